/** The card in the middle of a page that needs no session. */
import type { ReactNode } from 'react'
import { Mark } from '../../parts/icon.tsx'

interface CardProps {
  readonly title: string
  readonly text?: ReactNode
  readonly children?: ReactNode
}

export function Card({ title, text, children }: CardProps): ReactNode {
  return (
    <main className="card-page">
      <div className="card">
        <p className="card-brand">
          <Mark /> Pannier
        </p>
        <h1>{title}</h1>
        {text !== undefined && <p className="card-text">{text}</p>}
        {children}
      </div>
    </main>
  )
}
