/** The bar while the server is away. */
import { lazy, Suspense } from 'react'
import type { ReactNode } from 'react'
import { Boundary } from '../parts/boundary.tsx'
import { Button } from '../parts/button.tsx'
import { useDevice } from '../state/device/device.ts'
import { onDemand } from '../state/on-demand.ts'
import { askServer, isServerThere } from '../state/session.ts'
import { useStore } from '../state/store.ts'
import { TEXTS } from '../texts.ts'

/** If records are kept on this device, the bar also shows their age and the unsent writes. */
const KeptAway = lazy(async () => ({ default: (await onDemand(() => import('../views/device/away.tsx'))).KeptAway }))

export function Away(): ReactNode {
  const isThere = useStore(isServerThere)
  const { kept } = useDevice()
  const plain = !isThere && (
    <p className="away">
      <span className="spinner" aria-hidden="true" /> {TEXTS.session.away}
    </p>
  )
  return (
    <div className={isThere ? undefined : 'is-away'}>
      <div role="status">
        {kept.length === 0 ? (
          plain
        ) : (
          <Boundary>
            <Suspense fallback={plain}>
              <KeptAway />
            </Suspense>
          </Boundary>
        )}
      </div>
      {!isThere && (
        <Button kind="quiet" icon="refresh" onPress={askServer}>
          {TEXTS.session.tryNow}
        </Button>
      )}
    </div>
  )
}
