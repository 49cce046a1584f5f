/** The changes that wait and those that were refused, and how much is kept: read again when something has changed. */
import type { RejectedWrite, UnsentWrite } from '@pannier/client'
import { useEffect, useState } from 'react'
import { useDevice } from '../../state/device/device.ts'
import { every, useEnvironment } from '../../environment.ts'
import type { KeptSize } from '../../state/device/replica.ts'

const EVERY_MS = 1000

interface Writes {
  readonly waiting: readonly UnsentWrite[]
  readonly rejected: readonly RejectedWrite[]
}

const NOTHING: Writes = { waiting: [], rejected: [] }

export function useWrites(): Writes {
  const { replica, state } = useDevice()
  const [writes, setWrites] = useState(NOTHING)
  useEffect(() => {
    if (replica === undefined) return setWrites(NOTHING)
    let isOver = false
    Promise.all([replica.waiting(), replica.rejected()]).then(
      ([waiting, rejected]) => !isOver && setWrites({ waiting, rejected }),
      // It was closed meanwhile.
      () => undefined,
    )
    return () => {
      isOver = true
    }
    // Each change of them is another state.
  }, [replica, state])
  return writes
}

/** By the names of collections. */
export function useSizes(): ReadonlyMap<string, KeptSize> {
  const environment = useEnvironment()
  const { replica } = useDevice()
  const [sizes, setSizes] = useState<ReadonlyMap<string, KeptSize>>(new Map())
  useEffect(() => {
    if (replica === undefined) return setSizes(new Map())
    const read = (): void => {
      const all = replica.names.map(async (name) => [name, await replica.sizeOf(name)] as const)
      Promise.all(all).then(
        (found) => setSizes(new Map(found)),
        () => undefined,
      )
    }
    read()
    return every(environment, EVERY_MS, read)
  }, [environment, replica])
  return sizes
}
