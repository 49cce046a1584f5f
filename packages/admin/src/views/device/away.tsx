/** Where records are kept: says that the server is away, what is seen meanwhile, what waits for it, and what it has refused. */
import type { ReactNode } from 'react'
import { findCollection, useCollections } from '../../state/collections.ts'
import { useDevice } from '../../state/device/device.ts'
import { useEnvironment } from '../../environment.ts'
import { linkTo, useRoute } from '../../state/route.ts'
import { isServerThere } from '../../state/session.ts'
import { useStore } from '../../state/store.ts'
import { DEVICE } from '../../texts/device.ts'

export { isLeft } from './leave.ts'

const { away: texts } = DEVICE
const TIME = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' })
const DATE = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })
const DAY_MS = 24 * 3600 * 1000

export function KeptAway(): ReactNode {
  const isThere = useStore(isServerThere)
  const { isAway: isSending, state } = useDevice()
  const isAway = isSending || !isThere
  const { unsent = 0, rejected = 0 } = state ?? {}
  if (isAway)
    return (
      <p className="away">
        <span className="spinner" aria-hidden="true" /> <AwayText isThere={isThere} unsent={unsent} />
      </p>
    )
  if (rejected === 0) return null
  return (
    <p className="away away-refused">
      <span>
        {texts.refused(rejected)} <Waiting />
      </span>
    </p>
  )
}

function AwayText({ isThere, unsent }: { readonly isThere: boolean; readonly unsent: number }): ReactNode {
  const environment = useEnvironment()
  const { path } = useRoute()
  const { list } = useCollections()
  const { kept, state, syncedAt, reading } = useDevice()
  const collection = path[0] === 'records' ? findCollection(list, path[1] ?? '') : undefined
  if (isThere) return <span>{texts.sending(unsent)}</span>
  const part = collection && kept.find(({ id }) => id === collection.id)
  const isOpening = part !== undefined && state === undefined
  const isHere = state?.incomplete.includes(collection?.name ?? '') === false
  return (
    <span>
      {texts.title}{' '}
      {part !== undefined && isHere
        ? texts.asOf(timeText(syncedAt, environment.wallClock()), part.filter)
        : collection !== undefined && !isOpening && texts.notKept(collection.name)}{' '}
      {reading !== undefined && <span aria-hidden="true">{texts.reading(reading)} </span>}
      {unsent > 0 && (
        <>
          {texts.unsent(unsent)} <Waiting />
        </>
      )}
    </span>
  )
}

function Waiting(): ReactNode {
  return <a href={linkTo(['device'])}>{texts.show}</a>
}

function timeText(ms: number | undefined, now: number): string {
  if (ms === undefined) return '–'
  return (now - ms < DAY_MS ? TIME : DATE).format(ms)
}
