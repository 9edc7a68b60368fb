/** Draws the rows of a long list only when they change. */
import { Component, type ComponentChildren, type ComponentType, h } from 'preact'

/** Returns a component that is drawn again only for another row: another object, not another content. */
export function perRow<R extends object>(View: ComponentType<{ row: R }>): ComponentType<{ row: R }> {
  return class extends Component<{ row: R }> {
    override shouldComponentUpdate(next: { row: R }): boolean {
      return next.row !== this.props.row
    }
    override render(): ComponentChildren {
      return h(View, { row: this.props.row })
    }
  }
}
