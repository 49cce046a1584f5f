/** Parts of the page that are loaded when they are first needed. The server may be away then, or have another version of the page. */
import { isServerThere } from './session.ts'

/** While the server is away it waits, and the page says so. @throws what the browser says if the server answers and has no such part */
export async function onDemand<T>(load: () => Promise<T>): Promise<T> {
  for (let wasThere = false; ;) {
    try {
      return await load()
    } catch (error) {
      const isThere = await answers()
      isServerThere.set(isThere)
      // It may have come back between the two.
      if (isThere && wasThere) throw error
      wasThere = isThere
      if (!isThere) await serverIsBack()
    }
  }
}

/** Whether a part of the page could not be loaded, in the words of each engine. */
export function isMissingPart(error: unknown): boolean {
  return error instanceof TypeError && /dynamically imported module|module script/i.test(error.message)
}

function serverIsBack(): Promise<void> {
  return new Promise((resolve) => {
    const stop = isServerThere.follow(() => {
      if (!isServerThere.get()) return
      stop()
      resolve()
    })
  })
}

async function answers(): Promise<boolean> {
  try {
    return (await fetch(document.baseURI, { method: 'HEAD', cache: 'no-store' })).ok
  } catch {
    return false
  }
}
