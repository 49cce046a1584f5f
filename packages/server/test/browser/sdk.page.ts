/** A page for sdk.browser.ts: PocketBase's own client in a browser. */
import { sdkSuite, type SdkServer } from '../../testing/sdk-suite.ts'

declare global {
  /** Runs all cases, and gives what has failed. */
  var runSdk: (server: SdkServer) => Promise<readonly string[]>
}

globalThis.runSdk = async (server) => {
  const cases: (readonly [name: string, body: () => void | Promise<void>])[] = []
  sdkSuite({ test: (name, body) => cases.push([name, body]), create: async () => server })
  const failures: string[] = []
  for (const [name, body] of cases) {
    try {
      await body()
    } catch (error) {
      failures.push(`${name}: ${String(error)}`)
    }
  }
  return [`${cases.length} cases`, ...failures]
}
