/** Decides between the pages of links in mails, the sign-in, and the page of a superuser. */
import { Suspense, lazy } from 'react'
import type { ReactNode } from 'react'
import { Questions } from './parts/dialog.tsx'
import { Loading } from './parts/loading.tsx'
import { Toasts } from './parts/toasts.tsx'
import { Shell } from './shell/shell.tsx'
import { onDemand } from './state/on-demand.ts'
import { useRoute } from './state/route.ts'
import { session } from './state/session.ts'
import { useStore } from './state/store.ts'
import { SignIn } from './views/sign-in/sign-in.tsx'

const Setup = lazy(async () => ({ default: (await onDemand(() => import('./views/sign-in/setup.tsx'))).Setup }))
const MailLink = lazy(async () => ({
  default: (await onDemand(() => import('./views/sign-in/mail-link.tsx'))).MailLink,
}))

export function App(): ReactNode {
  return (
    <>
      <Suspense fallback={<Loading />}>
        <Page />
      </Suspense>
      <Questions />
      <Toasts />
    </>
  )
}

function Page(): ReactNode {
  const { path } = useRoute()
  const current = useStore(session)
  const [first, second = '', third = ''] = path
  if (first === 'setup') return <Setup secret={second} />
  if (first === 'auth') return <MailLink what={second} token={third} />
  if (current === undefined) return <SignIn />
  // What one superuser has typed is not another's.
  return <Shell key={current.record.id} account={current.record} hasEnded={current.hasEnded === true} />
}
