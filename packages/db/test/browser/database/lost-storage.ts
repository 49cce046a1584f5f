/** Takes the storage of a page's databases away. */

export interface LostStorage {
  /** Deletes the database as any page of the origin may. */
  deleteDatabase(name: string): Promise<void>
  /** Names of those of IndexedDB's databases that contain `part`. */
  databaseNames(part: string): Promise<readonly string[]>
  /** Keeps hold of every connection that is opened from now on. */
  catchConnections(): void
  /** Closes them as the browser does when the storage fails: the page is told, and its transactions are aborted. */
  loseConnections(): void
  /** From now on this page tells others nothing of what it does. */
  beSilent(): void
  /** As if the page came back from where the browser keeps pages for the way back. */
  showAgain(): void
}

export function lostStorage(): LostStorage {
  const connections: IDBDatabase[] = []
  const transactions = new Set<IDBTransaction>()
  return {
    deleteDatabase: (name) =>
      new Promise((resolve, reject) => {
        const request = indexedDB.deleteDatabase(`pannier:${name}`)
        request.onsuccess = () => resolve()
        request.onerror = () => reject(request.error ?? new Error('not deleted'))
      }),
    async databaseNames(part) {
      return (await indexedDB.databases()).flatMap(({ name = '' }) => (name.includes(part) ? [name] : []))
    },
    catchConnections() {
      const { open } = IDBFactory.prototype
      IDBFactory.prototype.open = function (this: IDBFactory, ...parameters: [string, number?]) {
        const request = open.apply(this, parameters)
        request.addEventListener('success', () => connections.push(request.result))
        return request
      }
      const { transaction } = IDBDatabase.prototype
      IDBDatabase.prototype.transaction = function (this: IDBDatabase, ...parameters: Parameters<typeof transaction>) {
        const begun = transaction.apply(this, parameters)
        transactions.add(begun)
        for (const end of ['complete', 'abort']) begun.addEventListener(end, () => transactions.delete(begun))
        return begun
      }
    },
    loseConnections() {
      for (const begun of transactions) {
        try {
          begun.abort()
        } catch {
          // It was about to end: what it did stays.
        }
      }
      for (const connection of connections.splice(0)) {
        connection.close()
        connection.dispatchEvent(new Event('close'))
      }
    },
    beSilent() {
      BroadcastChannel.prototype.postMessage = () => {}
    },
    showAgain() {
      globalThis.dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))
    },
  }
}
