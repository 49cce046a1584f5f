/** Filters that the page puts together. */

/** The filter that the server gets: full text is a part of it. */
export function wholeFilter(words: string, filter: string): string {
  if (words === '') return filter
  const search = `search(${quoted(words)})`
  return filter === '' ? search : `${search} && (${filter})`
}

/** A text of the language of filters. */
export function quoted(text: string): string {
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`
}
