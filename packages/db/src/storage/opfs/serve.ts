/** Serves one database's files in a thread: answers the messages of a page or of the thread itself. */
import { Host, type News, type Post } from './host.ts'
import { Ownership } from './ownership.ts'
import { postedError, type ToWorker } from './protocol.ts'

/** How long a database that is to be destroyed may be kept by a tab that does not answer. */
const PATIENCE_MS = 3000

/** Gives what hears messages; `post` takes what is said in return. */
export function serve(post: Post): (message: ToWorker) => void {
  let host: Host | undefined
  return (message) => {
    if (message === 'close') host?.close()
    else if ('join' in message) host = new Host(message.join, post)
    else if ('destroy' in message) void destroy(message.destroy, post)
    else host?.call(message)
  }
}

async function destroy(name: string, post: Post): Promise<void> {
  const everybody = new BroadcastChannel(`pannier-opfs:${name}:`)
  everybody.postMessage('gone' satisfies News)
  try {
    await new Ownership(name).destroy(PATIENCE_MS)
    post({ id: 0 })
  } catch (error) {
    post({ id: 0, error: postedError(error) })
  }
  everybody.close()
}
