/** Changes that the server does not have yet, in the order in which they are sent. */
import type { UnsentWrite } from '@pannier/client'
import type { ReactNode } from 'react'
import { DEVICE } from '../../texts/device.ts'
import { valueText, WriteName } from './write-parts.tsx'

const { waiting: texts } = DEVICE

export function WaitingWrites({ waiting }: { readonly waiting: readonly UnsentWrite[] }): ReactNode {
  return (
    <section className="view-part" aria-labelledby="waiting">
      <h2 id="waiting">{texts.title}</h2>
      <p className="muted">{texts.text}</p>
      <ol className="writes">
        {waiting.map(({ id, writes }) => (
          <li key={id} className="write">
            {writes.map((write, at) => (
              <div key={at}>
                <h3>
                  <WriteName write={write} />
                </h3>
                <dl className="write-values">
                  {Object.entries(write.mine).map(([name, value]) => (
                    <div key={name}>
                      <dt>{name}</dt>
                      <dd>{valueText(value)}</dd>
                    </div>
                  ))}
                </dl>
              </div>
            ))}
          </li>
        ))}
      </ol>
    </section>
  )
}
