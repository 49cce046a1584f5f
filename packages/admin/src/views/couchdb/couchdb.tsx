/** For people of CouchDB: databases with their documents, views and indexes, and replications. */
import type { ReactNode } from 'react'
import { TEXTS } from '../../texts.ts'
import { OPERATIONS } from '../../texts/operations.ts'
import { ServerHead } from '../server-head.tsx'
import type { ServerViewProps } from '../view.ts'
import { DatabaseView } from './database.tsx'
import { Databases } from './databases.tsx'
import { Replications } from './replications.tsx'

const { couchdb: texts } = OPERATIONS
const PARTS = ['databases', 'replications'] as const

export function View({ rest: [name, database, part] }: ServerViewProps): ReactNode {
  const current = PARTS.find((one) => one === name) ?? PARTS[0]
  if (current === 'databases' && database !== undefined)
    return <DatabaseView key={database} database={database} part={part} />
  const tabs = PARTS.map((one) => ({ title: texts.parts[one], path: ['couchdb', one], isCurrent: one === current }))
  return (
    <>
      <ServerHead title={TEXTS.serverViews.couchdb} tabs={tabs} />
      <div className="view-body">{current === 'databases' ? <Databases /> : <Replications />}</div>
    </>
  )
}
