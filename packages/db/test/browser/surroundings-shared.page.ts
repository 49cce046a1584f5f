/** A shared worker. Each page that asks has a port of its own. */
import { inSurroundings, type Work } from './surroundings-work.ts'

addEventListener('connect', (event) => {
  const [port] = (event as MessageEvent).ports
  port!.addEventListener('message', ({ data }: MessageEvent<Work>) => {
    void inSurroundings(data)
      .catch(String)
      .then((said) => port!.postMessage(said))
  })
  port!.start()
})
