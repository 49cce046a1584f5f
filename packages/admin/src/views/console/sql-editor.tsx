/** An editor of SQL that completes tables and columns. */
import type { ReactNode } from 'react'
import { listDatabases } from '../../api/couchdb.ts'
import { CodeEditor } from '../../parts/code-editor/code-editor.tsx'
import type { CodeEditorProps } from '../../parts/code-editor/contract.ts'
import { useLoaded } from '../../parts/use-loaded.ts'
import { findCollection, useCollections } from '../../state/collections.ts'
import { completeSql } from './sql-completions.ts'

type SqlEditorProps = Pick<CodeEditorProps, 'label' | 'value' | 'onValue' | 'control'> & {
  /** Runs the text, by Control and Enter. */
  readonly onRun?: () => unknown
}

export function SqlEditor({ onRun, ...props }: SqlEditorProps): ReactNode {
  const { list } = useCollections()
  const { value: found = [] } = useLoaded('databases', listDatabases)
  // Each collection is a database too, and those of the server are no tables.
  const databases = found
    .map(({ db_name }) => db_name)
    .filter((name) => !name.startsWith('_') && findCollection(list, name) === undefined)
  return (
    <div
      className="code-panel"
      onKeyDown={(event) => {
        if (onRun === undefined || event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return
        event.preventDefault()
        onRun()
      }}
    >
      <CodeEditor
        {...props}
        language="sql"
        complete={(text, position) => completeSql(text, position, list, databases)}
      />
    </div>
  )
}
