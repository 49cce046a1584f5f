/** The page of a superuser: the sidebar, and the view that the address names. */
import { useEffect, useState } from 'react'
import type { ReactNode } from 'react'
import type { Account } from '../api/accounts.ts'
import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Mark } from '../parts/icon.tsx'
import { findCollection, followCollections, reloadCollections, useCollections } from '../state/collections.ts'
import { useRoute } from '../state/route.ts'
import { isServerThere } from '../state/session.ts'
import { useStore } from '../state/store.ts'
import { TEXTS } from '../texts.ts'
import { SignInForms } from '../views/sign-in/sign-in.tsx'
import { Away } from './away.tsx'
import { Content } from './content.tsx'
import { leave } from './leave.ts'
import { Sidebar } from './sidebar.tsx'

interface ShellProps {
  readonly account: Account
  readonly hasEnded: boolean
}

export function Shell({ account, hasEnded }: ShellProps): ReactNode {
  const route = useRoute()
  const [isOpen, setOpen] = useState(false)
  const isThere = useStore(isServerThere)
  useEffect(() => {
    if (!hasEnded && isThere) void reloadCollections()
  }, [account.id, hasEnded, isThere])
  useEffect(followCollections, [])
  // On a narrow screen the sidebar covers the view: it closes with each choice.
  useEffect(() => setOpen(false), [route])
  useTitle()
  return (
    <div className={`shell ${isOpen ? 'shell-open' : ''}`}>
      <a className="skip" href="#content" onClick={skip}>
        {TEXTS.shell.skip}
      </a>
      <div className="topbar">
        <Button
          kind="quiet"
          icon="menu"
          label={TEXTS.shell.menu}
          aria-expanded={isOpen}
          onPress={() => setOpen(!isOpen)}
        />
        <Mark />
        <b>Pannier</b>
      </div>
      <Sidebar account={account} />
      {isOpen && <div className="curtain" onClick={() => setOpen(false)} />}
      <main id="content" className="content" tabIndex={-1}>
        <Away />
        <Content />
      </main>
      {hasEnded && (
        <Dialog title={TEXTS.session.ended} onClose={() => void leave()}>
          <p className="dialog-text">{TEXTS.session.endedText}</p>
          <SignInForms known={account.email} />
        </Dialog>
      )}
    </div>
  )
}

/** The address is the page's own, so the browser's jump would leave the view. */
function skip(event: { preventDefault: () => void }): void {
  event.preventDefault()
  document.getElementById('content')?.focus()
}

/** Sets the title, which distinguishes tabs of the browser, and which screen readers speak. */
function useTitle(): void {
  const { path } = useRoute()
  const { list } = useCollections()
  const name = findCollection(list, path[1] ?? '')?.name
  useEffect(() => {
    document.title = name === undefined ? 'Pannier' : `${name} – Pannier`
  }, [name])
}
