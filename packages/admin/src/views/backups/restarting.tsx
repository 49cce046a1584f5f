/** The server starts again with a backup. Accounts and sessions are those of the backup then, so the page starts again too. */
import { useEffect } from 'react'
import type { ReactNode } from 'react'
import { Dialog } from '../../parts/dialog.tsx'
import { every, useEnvironment } from '../../environment.ts'
import { OPERATIONS } from '../../texts/operations.ts'

const { backups: texts } = OPERATIONS
const WAIT_MS = 1000
/** The server that was there before may still answer: it is the new one after an error, or after as many answers. */
const ANSWERS = 5

interface RestartingProps {
  readonly name: string
  /** Whether the server is back. Rejects while it does not answer. */
  readonly isBack: () => Promise<boolean>
}

export function Restarting({ name, isBack }: RestartingProps): ReactNode {
  const environment = useEnvironment()
  useEffect(() => {
    let isAsking = false
    let answers = 0
    const ask = async (): Promise<void> => {
      isAsking = true
      const isThere = await isBack().catch(() => false)
      isAsking = false
      answers = isThere ? answers + 1 : ANSWERS - 1
      if (isThere && answers >= ANSWERS) location.reload()
    }
    return every(environment, WAIT_MS, () => {
      if (!isAsking) void ask()
    })
  }, [environment, isBack])
  return (
    <Dialog title={texts.restarting} onClose={() => location.reload()}>
      <p className="question" role="status">
        {texts.restartingText(name)}
      </p>
    </Dialog>
  )
}
