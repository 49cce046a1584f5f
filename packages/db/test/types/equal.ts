/** For tests that run in the compiler only: `npm run types` fails where two types differ. */

/** True if the types are the same. */
export type Same<Left, Right> =
  (<T>() => T extends Simple<Left> ? 1 : 2) extends <T>() => T extends Simple<Right> ? 1 : 2 ? true : false

/** Accepts only true. */
export function holds<_Holds extends true>(): void {}

/** Intersections as the one object that they are. */
type Simple<T> = T extends object ? { [Name in keyof T]: Simple<T[Name]> } : T
