/** API tokens, with what each may do. */
import type { ReactNode } from 'react'
import { deleteApiToken, listApiTokens } from '../../api/access.ts'
import type { ApiToken, Scopes } from '../../api/access.ts'
import { Button } from '../../parts/button.tsx'
import { DataTable } from '../../parts/data-table.tsx'
import type { DataColumn } from '../../parts/data-table.tsx'
import { confirm } from '../../state/question.ts'
import { Moment } from '../../parts/figures.tsx'
import { Failed, Loading, Notice } from '../../parts/loading.tsx'
import { useLoaded } from '../../parts/use-loaded.ts'
import { linkTo } from '../../state/route.ts'
import { OPERATIONS } from '../../texts/operations.ts'

const { access: texts } = OPERATIONS

export function Tokens(): ReactNode {
  const { value, error, reload } = useLoaded('tokens', listApiTokens)
  if (value === undefined) return error === undefined ? <Loading /> : <Failed error={error} onRetry={reload} />
  if (value.length === 0) return <Notice icon="key" title={texts.noTokens} text={texts.noTokensText} />
  const remove = async ({ id, name }: ApiToken): Promise<void> => {
    const question = { title: texts.deleteToken(name), text: texts.deleteTokenText, yes: texts.deleteTokenYes }
    if (!(await confirm({ ...question, isDanger: true }))) return
    await deleteApiToken(id)
    await reload()
  }
  return <DataTable label={texts.parts.tokens} columns={columnsOf(remove)} rows={value} keyOf={({ id }) => id} />
}

function columnsOf(remove: (token: ApiToken) => Promise<void>): readonly DataColumn<ApiToken>[] {
  return [
    { name: 'name', title: texts.name, cell: ({ name }) => <b>{name}</b> },
    {
      name: 'account',
      title: texts.account,
      cell: ({ collection, record }) => (
        <a href={linkTo(['records', collection], { record })}>{`${collection}/${record}`}</a>
      ),
    },
    { name: 'scopes', title: texts.scopes, cell: ({ scopes }) => <ScopeList scopes={scopes} /> },
    { name: 'used', title: texts.used, cell: ({ used }) => <When text={used} /> },
    { name: 'expires', title: texts.expires, cell: ({ expires }) => <When text={expires} /> },
    {
      name: 'actions',
      title: texts.actions,
      isActions: true,
      cell: (token) => (
        <Button kind="quiet" icon="trash" label={texts.deleteOf(token.name)} onPress={() => remove(token)} />
      ),
    },
  ]
}

function ScopeList({ scopes }: { readonly scopes: Scopes }): ReactNode {
  return (
    <span className="scope-list">
      {Object.entries(scopes).map(([collection, actions]) => (
        <span key={collection} className="badge">{`${collection}: ${actions.join(', ')}`}</span>
      ))}
    </span>
  )
}

function When({ text }: { readonly text: string }): ReactNode {
  return text === '' ? <span className="muted">{texts.never}</span> : <Moment text={text} />
}
