// Questions about types that the compiler answers: a file here is compiled by every build and never run.
//
//     export type _1 = Expect<Equal<ReturnType<typeof f>, number>>;

/** An error in the build unless `T` is `true`. */
export type Expect<T extends true> = T;
/** The same type, `any` and `unknown` told apart, optional and readonly members too. */
export type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
/** A value of type `From` may stand where a `To` is asked for. */
export type Assignable<From, To> = [From] extends [To] ? true : false;
/** `Not<Equal<A, B>>`: they differ. */
export type Not<T extends boolean> = T extends true ? false : true;
