/** Leaves the server: signs out. What this device keeps goes with the session. */
import { device } from '../state/device/device.ts'
import { signOut } from '../state/session.ts'

export async function leave(): Promise<void> {
  if (device.get().kept.length === 0) return signOut()
  // The bar is there already, so this works while the server is away, too.
  const { isLeft } = await import('../views/device/away.tsx')
  if (await isLeft()) signOut()
}
