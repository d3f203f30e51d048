// The task of the piscina contender. Piscina calls a module's default export, hence the one default export here.
export default (value: unknown): unknown => value;
