/** The page's own files on this device, by the service worker: so that the page opens while the server is away. */
const WORKER = 'service-worker.js'

/** Browsers without service workers, and pages without HTTPS, open again only when the server is there. */
export async function keepPage(): Promise<void> {
  await workers()?.register(new URL(WORKER, document.baseURI))
}

export async function forgetPage(): Promise<void> {
  const registration = await workers()?.getRegistration(document.baseURI)
  await registration?.unregister()
  if (!('caches' in globalThis)) return
  for (const name of await caches.keys()) if (name.startsWith('pannier-admin-')) await caches.delete(name)
}

function workers(): ServiceWorkerContainer | undefined {
  return navigator.serviceWorker as ServiceWorkerContainer | undefined
}
