/** The view of credentials: superusers, accounts with their sessions, API tokens of programs. */
import type { ReactNode } from 'react'
import { Button } from '../../parts/button.tsx'
import { TEXTS } from '../../texts.ts'
import { OPERATIONS } from '../../texts/operations.ts'
import { ServerHead } from '../server-head.tsx'
import type { ServerViewProps } from '../view.ts'
import { changeQuery, useRoute } from '../../state/route.ts'
import { Accounts } from './accounts.tsx'
import { Invite } from './invite.tsx'
import { NewSuperuser } from './new-superuser.tsx'
import { NewToken } from './new-token.tsx'
import { Superusers } from './superusers.tsx'
import { Tokens } from './tokens.tsx'
import sheet from './access.css'

const { access: texts } = OPERATIONS
const PARTS = ['tokens', 'accounts', 'superusers'] as const

export function View({ rest: [name] }: ServerViewProps): ReactNode {
  const { query } = useRoute()
  const part = PARTS.find((one) => one === name) ?? PARTS[0]
  const tabs = PARTS.map((one) => ({ title: texts.parts[one], path: ['access', one], isCurrent: one === part }))
  const isMaking = query['new'] !== undefined
  const close = (): void => changeQuery({ new: undefined })
  return (
    <>
      <link rel="stylesheet" href={sheet} precedence="page" />
      <ServerHead title={TEXTS.serverViews.access} tabs={tabs}>
        {part !== 'tokens' && (
          <Button icon="email" onPress={() => changeQuery({ invite: 'yes' })}>
            {texts.invite.action}
          </Button>
        )}
        {part !== 'accounts' && (
          <Button kind="primary" icon="add" onPress={() => changeQuery({ new: 'yes' })}>
            {part === 'tokens' ? texts.newToken : texts.newSuperuser}
          </Button>
        )}
      </ServerHead>
      <div className="view-body">
        <p className="muted">{texts.partTexts[part]}</p>
        {part === 'tokens' && <Tokens key={query['new']} />}
        {part === 'accounts' && <Accounts />}
        {part === 'superusers' && <Superusers key={`${query['new']} ${query['invite']}`} />}
      </div>
      {isMaking && part === 'tokens' && <NewToken onClose={close} />}
      {isMaking && part === 'superusers' && <NewSuperuser onClose={close} />}
      {query['invite'] !== undefined && (
        <Invite collection={invited(part, query['collection'])} onClose={() => changeQuery({ invite: undefined })} />
      )}
    </>
  )
}

/** The collection that somebody is invited into, at first. */
function invited(part: (typeof PARTS)[number], chosen: string | undefined): string {
  return part === 'superusers' ? '_superusers' : (chosen ?? 'users')
}
