/**
 * Resolves frameworks that have one build for pages and one for servers. Node takes the latter, which shows nothing that changes. So tests
 * get the build for pages. A module that is imported with `?server` gets the other one, for itself and all that it imports.
 */
import { registerHooks } from 'node:module'

const FRAMEWORK = /^(solid-js|svelte|esm-env)(\/|$)/
const SERVER = '?server'
/** Modules that differ between a page and a server, or import one. */
const DIFFERS = /\/node_modules\/(solid-js|svelte|esm-env)\/|\/packages\/(solid|svelte)\//

export function hookBrowserBuilds(): void {
  registerHooks({
    resolve(specifier, context, nextResolve) {
      if (context.parentURL?.endsWith(SERVER) === true) {
        const resolved = nextResolve(specifier, context)
        const isBeside = resolved.url.startsWith(new URL('.', context.parentURL).href)
        const isOther = (isBeside || DIFFERS.test(resolved.url)) && !resolved.url.includes('?')
        return isOther ? { ...resolved, url: `${resolved.url}${SERVER}` } : resolved
      }
      if (!FRAMEWORK.test(specifier)) return nextResolve(specifier, context)
      return nextResolve(specifier, { ...context, conditions: [...context.conditions, 'browser'] })
    },
  })
}
