/** Finds what takes options in a snapshot of the public interface, as the folders `api` of the packages have them. */
import { withoutDocs } from './statements.ts'

/**
 * The functions and methods that take an object of options, by name: `open`, `Query.live`. That is a type named `…Options`, an interface
 * or an inline type whose members may all be left out.
 */
export function takersOfOptions(snapshot: string): Set<string> {
  const api = withoutDocs(snapshot)
  const optional = new Set(
    [...api.matchAll(/^(?:export )?interface (\w+)[^{]*\{\n([^]*?)^\}/gm)].flatMap(([, name, body]) =>
      name!.endsWith('Options') ||
      [...body!.matchAll(/^ {4}(.*)/gm)].every(([, line]) => /^(readonly )?\w+\?|^[ }]/.test(line!))
        ? [name!]
        : [],
    ),
  )
  for (const [, name] of api.matchAll(/^(?:export )?type (\w+Options)\b/gm)) optional.add(name!)
  const takes = (parameters: string): boolean =>
    /\{\s*readonly \w+\?:/.test(parameters) || [...parameters.matchAll(/\w+/g)].some(([word]) => optional.has(word))
  const found = new Set<string>()
  for (const { 1: name, index } of api.matchAll(/^export function (\w+)/gm))
    if (takes(parametersOf(api.slice(index)))) found.add(name!)
  for (const [, owner, body] of api.matchAll(/^export (?:abstract )?(?:class|interface) (\w+)[^{]*\{\n([^]*?)^\}/gm)) {
    // A member continues for as long as lines are indented further.
    for (const [, name, rest] of body!.matchAll(/^ {4}(?:static )?(\w+)(?:<[^(]*>)?(\([^]*?(?=^ {4}[^ }]|(?![^])))/gm))
      if (name !== 'constructor' && takes(parametersOf(rest!))) found.add(`${owner}.${name}`)
  }
  return found
}

/** From the first bracket to the one that ends it. */
function parametersOf(text: string): string {
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '(') depth++
    if (text[at] === ')' && --depth === 0) return text.slice(0, at)
  }
  return text
}
