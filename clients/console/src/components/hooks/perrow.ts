/** Draws the rows of a long list only when they change. */
import { Component, type ComponentChildren, type ComponentType, h } from 'preact'

export interface RowProps<R> {
  row: R
  /** Its place in the list, from 0. */
  at: number
}

/** Returns a component that is drawn again only for another row, that is another object, and at another place. */
export function perRow<R extends object>(View: ComponentType<RowProps<R>>): ComponentType<RowProps<R>> {
  return class extends Component<RowProps<R>> {
    override shouldComponentUpdate(next: RowProps<R>): boolean {
      return next.row !== this.props.row || next.at !== this.props.at
    }
    override render(): ComponentChildren {
      return h(View, { row: this.props.row, at: this.props.at })
    }
  }
}
