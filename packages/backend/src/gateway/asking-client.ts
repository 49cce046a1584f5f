/** The client whose request is being answered, for limits that lie far below the door. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { networkOf } from './shares.ts'

const asking = new AsyncLocalStorage<{ client: string }>()

/** Runs what a request from an address starts. */
export function askedFrom(address: string, run: () => void): void {
  asking.run({ client: networkOf(address) }, run)
}

/** The address is known better now: a proxy has said it. */
export function askedInsteadFrom(address: string): void {
  const store = asking.getStore()
  if (store !== undefined) store.client = networkOf(address)
}

/** The client, by its address. Empty for work that no request has started. */
export function askingClient(): string {
  return asking.getStore()?.client ?? ''
}
