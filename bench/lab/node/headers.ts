/** What every answer says: only the page's own scripts run, and it is isolated, so that it gets a precise clock. */
export const HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy':
    // SQLite is WebAssembly, made from a blob; frames and workers are the page's own.
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' data: blob:; " +
    "connect-src 'self' blob:; worker-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'; " +
    "frame-ancestors 'self'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-embedder-policy': 'require-corp',
  'cross-origin-resource-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-cache',
}
