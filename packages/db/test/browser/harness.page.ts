/** A page for harness.browser.ts: keeps a number in IndexedDB and says what it is. */
export interface HarnessTab {
  increment(): Promise<number>
}

declare global {
  var harnessTab: HarnessTab
}

globalThis.harnessTab = {
  increment: () =>
    new Promise((resolve, reject) => {
      const opening = indexedDB.open('harness', 1)
      opening.addEventListener('upgradeneeded', () => opening.result.createObjectStore('numbers'))
      opening.addEventListener('error', () => reject(opening.error ?? new Error('no database')))
      opening.addEventListener('success', () => {
        const transaction = opening.result.transaction('numbers', 'readwrite', { durability: 'strict' })
        const numbers = transaction.objectStore('numbers')
        const reading = numbers.get('n') as IDBRequest<number | undefined>
        reading.addEventListener('success', () => numbers.put((reading.result ?? 0) + 1, 'n'))
        transaction.addEventListener('complete', () => {
          opening.result.close()
          resolve((reading.result ?? 0) + 1)
        })
      })
    }),
}
