/** For people of CouchDB: databases with their documents, views, indexes, permissions and changes; replications; the configuration. */
import type { ReactNode } from 'react'
import { changeQuery, linkTo, useRoute } from '../../state/route.ts'
import { TEXTS } from '../../texts.ts'
import { OPERATIONS } from '../../texts/operations.ts'
import { ServerHead } from '../server-head.tsx'
import type { ServerViewProps } from '../view.ts'
import { Changes } from './changes.tsx'
import { ConfigurationView } from './configuration.tsx'
import { Databases } from './databases.tsx'
import { Documents } from './documents.tsx'
import { Indexes } from './indexes.tsx'
import { Permissions } from './permissions.tsx'
import { Replications } from './replications.tsx'
import { RevisionsDialog } from './revisions.tsx'
import { Views } from './views.tsx'
import sheet from './couchdb.css'

const { couchdb: texts } = OPERATIONS
const PARTS = ['databases', 'replications', 'configuration'] as const
const DATABASE_PARTS = ['documents', 'views', 'indexes', 'changes', 'permissions'] as const

export function View({ rest: [name, database, part] }: ServerViewProps): ReactNode {
  const current = PARTS.find((one) => one === name) ?? PARTS[0]
  if (current === 'databases' && database !== undefined)
    return <DatabaseView key={database} database={database} part={part} />
  const tabs = PARTS.map((one) => ({ title: texts.parts[one], path: ['couchdb', one], isCurrent: one === current }))
  return (
    <>
      <link rel="stylesheet" href={sheet} precedence="page" />
      <ServerHead title={TEXTS.serverViews.couchdb} tabs={tabs} />
      <div className="view-body">
        {current === 'databases' && <Databases />}
        {current === 'replications' && <Replications />}
        {current === 'configuration' && <ConfigurationView />}
      </div>
    </>
  )
}

interface DatabaseViewProps {
  readonly database: string
  readonly part: string | undefined
}

function DatabaseView({ database, part }: DatabaseViewProps): ReactNode {
  const { query } = useRoute()
  const current = DATABASE_PARTS.find((one) => one === part) ?? DATABASE_PARTS[0]
  const tabs = DATABASE_PARTS.map((one) => ({
    title: texts.databaseParts[one],
    path: ['couchdb', 'databases', database, one],
    isCurrent: one === current,
  }))
  return (
    <>
      <link rel="stylesheet" href={sheet} precedence="page" />
      <ServerHead title={database} tabs={tabs}>
        <a className="button" href={linkTo(['console', 'mango'], { database })}>
          {texts.query}
        </a>
        <a className="button" href={linkTo(['couchdb', 'databases'])}>
          {texts.allDatabases}
        </a>
      </ServerHead>
      {query['revisions'] !== undefined && (
        <RevisionsDialog
          database={database}
          id={query['revisions']}
          onClose={() => changeQuery({ revisions: undefined })}
        />
      )}
      <div className="view-body">
        {current === 'documents' && <Documents database={database} />}
        {current === 'views' && <Views database={database} />}
        {current === 'indexes' && <Indexes database={database} />}
        {current === 'changes' && <Changes database={database} />}
        {current === 'permissions' && <Permissions database={database} />}
      </div>
    </>
  )
}
