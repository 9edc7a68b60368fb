import { Component, type ComponentChildren } from 'preact'
import { Notice } from '../components/notice.tsx'

/** Shows what is left when a component fails, instead of an empty page. */
export class Boundary extends Component<{ children: ComponentChildren }, { message?: string }> {
  override state: { message?: string } = {}

  static override getDerivedStateFromError(error: unknown) {
    return { message: error instanceof Error ? error.message : String(error) }
  }

  override render() {
    const { message } = this.state
    if (message === undefined) return this.props.children
    return (
      <main>
        <Notice tone="bad" title="The console failed.">
          <p>{message}</p>
          <p>Nothing was changed by this. Reload the page to go on.</p>
        </Notice>
      </main>
    )
  }
}
