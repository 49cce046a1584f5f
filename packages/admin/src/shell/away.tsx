/** Says that the server does not answer, and asks until it is back. */
import { lazy, Suspense, useEffect } from 'react'
import type { ReactNode } from 'react'
import { Boundary } from '../parts/boundary.tsx'
import { reloadCollections } from '../state/collections.ts'
import { useDevice } from '../state/device/device.ts'
import { onDemand } from '../state/on-demand.ts'
import { isServerThere } from '../state/session.ts'
import { useStore } from '../state/store.ts'
import { TEXTS } from '../texts.ts'

/** Where something is held it also says what is seen, and what waits. */
const HeldAway = lazy(async () => ({ default: (await onDemand(() => import('../views/device/away.tsx'))).HeldAway }))
const RETRY_MS = 3000

export function Away(): ReactNode {
  const isThere = useStore(isServerThere)
  const { held } = useDevice()
  useEffect(() => {
    if (isThere) return undefined
    const timer = setInterval(() => void reloadCollections(), RETRY_MS)
    return () => clearInterval(timer)
  }, [isThere])
  const plain = !isThere && (
    <p className="away">
      <span className="spinner" aria-hidden="true" /> {TEXTS.session.away}
    </p>
  )
  return (
    <div role="status">
      {held.length === 0 ? (
        plain
      ) : (
        <Boundary>
          <Suspense fallback={plain}>
            <HeldAway />
          </Suspense>
        </Boundary>
      )}
    </div>
  )
}
