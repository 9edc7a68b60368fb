import { Component, type ComponentChildren } from 'preact'
import { Paragraph } from '../components/foreign.tsx'
import { Notice } from '../components/notice.tsx'

export interface BoundaryProps {
  /** The element around the error. */
  as: 'main' | 'div'
  children: ComponentChildren
}

/** Shows an error in place of children that throw while they render. */
export class Boundary extends Component<BoundaryProps, { message?: string }> {
  override state: { message?: string } = {}

  static override getDerivedStateFromError(error: unknown) {
    return { message: error instanceof Error ? error.message : String(error) }
  }

  override render() {
    const { message } = this.state
    const { as: Place, children } = this.props
    if (message === undefined) return children
    return (
      <Place>
        <Notice tone="bad" title="The console failed.">
          <Paragraph text={message} />
          <p>Nothing was changed by this. Reload the page.</p>
        </Notice>
      </Place>
    )
  }
}
