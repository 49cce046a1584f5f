/** One database: its documents, its views, its indexes. */
import type { ReactNode } from 'react'
import { changeQuery, linkTo, useRoute } from '../../state/route.ts'
import { OPERATIONS } from '../../texts/operations.ts'
import { ServerHead } from '../server-head.tsx'
import { Documents } from './documents.tsx'
import { Indexes } from './indexes.tsx'
import { RevisionsDialog } from './revisions.tsx'
import { Views } from './views.tsx'

const { couchdb: texts } = OPERATIONS
const PARTS = ['documents', 'views', 'indexes'] as const

interface DatabaseViewProps {
  readonly database: string
  readonly part: string | undefined
}

export function DatabaseView({ database, part }: DatabaseViewProps): ReactNode {
  const { query } = useRoute()
  const current = PARTS.find((one) => one === part) ?? PARTS[0]
  const tabs = PARTS.map((one) => ({
    title: texts.databaseParts[one],
    path: ['couchdb', 'databases', database, one],
    isCurrent: one === current,
  }))
  return (
    <>
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
      </div>
    </>
  )
}
