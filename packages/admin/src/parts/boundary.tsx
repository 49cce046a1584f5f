/** Keeps an error of one view from taking the page away. React asks for a class here. */
import { Component } from 'react'
import type { ReactNode } from 'react'
import { Failed } from './loading.tsx'

interface State {
  readonly error?: unknown
}

export class Boundary extends Component<{ readonly children: ReactNode }, State> {
  override state: State = {}

  static getDerivedStateFromError(error: unknown): State {
    return { error }
  }

  override render(): ReactNode {
    const { error } = this.state
    if (error === undefined) return this.props.children
    return <Failed error={error} onRetry={() => this.setState({ error: undefined })} />
  }
}
