/** Paths of routes as Go's `http.ServeMux` has them, as patterns of URLs. */
import { badArgument } from 'pannier/internal'

const WILDCARD = /\{(\w+)(\.\.\.)?\}|\{\$\}/g

/** `/files/{id}`, `/assets/{path...}`, `/exactly/{$}`, `/all-below/`. `/` is the root alone, as other URLs are CouchDB's. */
export function pathPattern(path: string): { readonly pattern: URLPattern; readonly wildcards: number } {
  if (!path.startsWith('/')) throw badArgument('routerAdd()', "path must begin with '/'", path)
  let wildcards = 0
  let at = 0
  let pathname = ''
  for (const { 0: whole, 1: name, 2: rest, index } of path.matchAll(WILDCARD)) {
    pathname += literal(path.slice(at, index))
    at = index + whole.length
    if (name === undefined) continue
    wildcards += rest === undefined ? 1 : 100
    pathname += rest === undefined ? `:${name}` : `:${name}(.*)`
  }
  const isFolder = path.endsWith('/') && path !== '/'
  pathname += literal(path.slice(at)) + (isFolder ? '*' : '')
  return { pattern: new URLPattern({ pathname }), wildcards: wildcards + (isFolder ? 100 : 0) }
}

/** Without a meaning of its own in a pattern. */
function literal(text: string): string {
  return text.replace(/[+*?{}()\\:]/g, String.raw`\$&`)
}
