// The platform of a model: no threads, no native ports.
export const platform: object = {};
