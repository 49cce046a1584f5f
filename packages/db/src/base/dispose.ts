/**
 * `using` and `await using` where the engine does not know them yet (WebKit): compilers look for the method under the name that the
 * symbol would have.
 */
export function makeDisposable(
  type: { readonly prototype: { close(): unknown } },
  name: 'dispose' | 'asyncDispose',
): void {
  if (!(name in Symbol)) {
    Object.defineProperty(type.prototype, Symbol.for(`Symbol.${name}`), { value: type.prototype.close })
  }
}
