/** What the examples take from the app around them. */

/** Shows something to the user. */
declare function render(...shown: readonly unknown[]): void
