// The empty task of the pools. They call a module's default export, hence the one default export here.
export default (): void => {};
