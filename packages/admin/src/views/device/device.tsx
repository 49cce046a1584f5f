/** The records on this device: the collections, the changes that wait, and changes that the server has refused. */
import type { ReactNode } from 'react'
import { Button } from '../../parts/button.tsx'
import { DataTable } from '../../parts/data-table.tsx'
import type { DataColumn } from '../../parts/data-table.tsx'
import { bytesText, Moment, numberText } from '../../parts/figures.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Notice } from '../../parts/loading.tsx'
import { errorText, showDone, showError } from '../../parts/toasts.tsx'
import { findCollection, useCollections } from '../../state/collections.ts'
import { useDevice } from '../../state/device/device.ts'
import type { DeviceState, KeptCollection } from '../../state/device/device.ts'
import { removeCollection } from '../../state/device/device-replica.ts'
import type { KeptSize } from '../../state/device/replica.ts'
import { linkTo } from '../../state/route.ts'
import { TEXTS } from '../../texts.ts'
import { DEVICE } from '../../texts/device.ts'
import { ServerHead } from '../server-head.tsx'
import { RefusedWrites } from './refused-writes.tsx'
import { useKeptFocus } from './use-kept-focus.ts'
import { useSizes, useWrites } from './use-writes.ts'
import { WaitingWrites } from './waiting-writes.tsx'
import sheet from './device.css'

const { kept: texts } = DEVICE

export function View(): ReactNode {
  const { kept } = useDevice()
  const { waiting, rejected } = useWrites()
  const box = useKeptFocus()
  return (
    <>
      <link rel="stylesheet" href={sheet} precedence="page" />
      <ServerHead title={TEXTS.serverViews.device} />
      <div ref={box} className="view-body">
        {rejected.length > 0 && <RefusedWrites rejected={rejected} />}
        {waiting.length > 0 && <WaitingWrites waiting={waiting} />}
        <section className="view-part" aria-labelledby="kept">
          <h2 id="kept">{texts.title}</h2>
          {kept.length === 0 ? (
            <Notice icon="device" title={texts.none} text={texts.noneText} />
          ) : (
            <>
              <p className="muted">{texts.text}</p>
              <p className="muted">
                <Icon name="lock" /> {texts.sensitive}
              </p>
              <KeptTable
                isTouched={
                  new Set([...waiting, ...rejected].flatMap(({ writes }) => writes.map(({ collection }) => collection)))
                }
              />
            </>
          )}
        </section>
      </div>
    </>
  )
}

interface KeptRow extends KeptCollection {
  readonly name: string
  readonly size: KeptSize | undefined
  readonly state: ReactNode
}

function KeptTable({ isTouched }: { readonly isTouched: ReadonlySet<string> }): ReactNode {
  const state = useDevice()
  const { list } = useCollections()
  const sizes = useSizes()
  const rows = state.kept.map((collection): KeptRow => {
    const name = findCollection(list, collection.id)?.name ?? collection.id
    return { ...collection, name, size: sizes.get(name), state: stateOf(state, name) }
  })
  const remove = async ({ id, name }: KeptRow): Promise<void> => {
    // What waits would go with it.
    if (isTouched.has(name)) return showError(texts.waits)
    await removeCollection(id)
    showDone(texts.removed(name))
  }
  return <DataTable label={texts.table} columns={columnsOf(remove)} rows={rows} keyOf={({ id }) => id} />
}

function stateOf({ state, syncedAt, isAway, error }: DeviceState, name: string): ReactNode {
  const problem = error ?? (state?.status === 'failed' ? state.error : undefined)
  if (problem !== undefined) return texts.failed(problem instanceof Error ? problem.message : errorText(problem))
  if (state?.incomplete.includes(name) !== false)
    return (
      <>
        <span className="spinner" aria-hidden="true" /> {texts.loading}
      </>
    )
  if (!isAway || syncedAt === undefined) return texts.complete
  return <Moment text={new Date(syncedAt).toISOString()} />
}

function columnsOf(remove: (row: KeptRow) => Promise<void>): readonly DataColumn<KeptRow>[] {
  return [
    { name: 'name', title: texts.collection, cell: ({ name }) => <a href={linkTo(['records', name])}>{name}</a> },
    {
      name: 'part',
      title: texts.part,
      cell: ({ filter }) => (filter === '' ? texts.whole : <code>{filter}</code>),
    },
    {
      name: 'records',
      title: texts.records,
      isNumber: true,
      cell: ({ size }) => (size === undefined ? texts.unknownSize : numberText(size.records)),
    },
    {
      name: 'size',
      title: texts.size,
      isNumber: true,
      cell: ({ size }) => (size?.bytes === undefined ? texts.unknownSize : bytesText(size.bytes)),
    },
    { name: 'state', title: texts.state, cell: ({ state }) => state },
    {
      name: 'actions',
      title: texts.actions,
      isActions: true,
      cell: (row) => (
        <Button label={texts.removeOf(row.name)} onPress={() => remove(row)}>
          {texts.remove}
        </Button>
      ),
    },
  ]
}
