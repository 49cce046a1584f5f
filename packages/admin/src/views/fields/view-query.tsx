/** The query of a view, and what it gives: its fields, and its first rows. */
import { useState } from 'react'
import type { ReactNode } from 'react'
import { tryViewQuery } from '../../api/definitions.ts'
import type { ViewSample } from '../../api/definitions.ts'
import { Button } from '../../parts/button.tsx'
import { FormField } from '../../parts/form-field.tsx'
import { Icon } from '../../parts/icon.tsx'
import { errorText } from '../../parts/toasts.tsx'
import { DEFINITION_TEXTS as TEXTS } from '../../texts/definitions.ts'
import { kindOf } from '../kinds.ts'

const { viewQuery: texts } = TEXTS
const EXAMPLE = 'SELECT id, title, author FROM articles WHERE featured = true'

interface ViewQueryProps {
  readonly query: string
  readonly error: string | undefined
  readonly onQuery: (query: string) => void
}

export function ViewQuery({ query, error, onQuery }: ViewQueryProps): ReactNode {
  const [sample, setSample] = useState<ViewSample>()
  const [refusal, setRefusal] = useState<string>()
  const attempt = async (): Promise<void> => {
    setRefusal(undefined)
    try {
      setSample(await tryViewQuery(query))
    } catch (failure) {
      setSample(undefined)
      setRefusal(errorText(failure))
    }
  }
  return (
    <section className="view-sql">
      <FormField label={texts.label} help={texts.help} error={refusal ?? error}>
        {(control) => (
          <textarea
            {...control}
            className="input input-code"
            rows={6}
            spellCheck={false}
            placeholder={EXAMPLE}
            value={query}
            onChange={({ target }) => onQuery(target.value)}
          />
        )}
      </FormField>
      <Button icon="view" disabled={query.trim() === ''} onPress={attempt}>
        {texts.attempt}
      </Button>
      {sample !== undefined && <Sample sample={sample} />}
    </section>
  )
}

function Sample({ sample: { fields, sample } }: { readonly sample: ViewSample }): ReactNode {
  return (
    <div className="sample" role="region" aria-label={texts.rows} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {fields.map(({ name, type }) => (
              <th key={name} scope="col" title={kindOf({ type }).label}>
                <Icon name={kindOf({ type }).icon} /> {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {sample.map((row) => (
            <tr key={row.id}>
              {fields.map(({ name }) => (
                <td key={name}>{textOf(row[name])}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {sample.length === 0 && <p>{texts.none}</p>}
    </div>
  )
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
