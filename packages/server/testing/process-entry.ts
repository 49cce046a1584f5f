/** The child's side of processes.ts. */

/** Starts, tells where it listens, tells of its memory and processor time when it is asked, and ends with the parent. */
export function serve(start: () => Promise<{ readonly url: string; close(): Promise<void> }>): void {
  void start().then(({ url, close }) => {
    process.on('message', (message) => {
      if (message === 'close') void close().then(() => process.exit(0))
      else if (message === 'cpu') {
        const { user, system } = process.cpuUsage()
        process.send!({ cpuMs: (user + system) / 1000 })
      } else {
        globalThis.gc?.()
        process.send!({ memory: process.memoryUsage() })
      }
    })
    process.on('disconnect', () => process.exit(1))
    process.send!({ url })
  })
}
