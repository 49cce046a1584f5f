/** A service worker. Browsers forbid `import()` there, so it has all parts of the library in its one file. */
import { inSurroundings, type Work } from './surroundings-work.ts'

interface Extendable extends MessageEvent<Work> {
  waitUntil(work: Promise<unknown>): void
}

addEventListener('message', (event) => {
  const { data, ports, waitUntil } = event as Extendable
  const answer = inSurroundings(data).catch(String)
  waitUntil.call(
    event,
    answer.then((said) => ports[0]!.postMessage(said)),
  )
})
