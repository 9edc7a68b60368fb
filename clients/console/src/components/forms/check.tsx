import type { ComponentChildren } from 'preact'

export interface CheckProps {
  checked: boolean
  onChange(checked: boolean): void
  children: ComponentChildren
}

/** Asks for a yes or no. The children say to what. */
export const Check = ({ checked, onChange, children }: CheckProps) => (
  <label class="check">
    <input type="checkbox" checked={checked} onChange={(event) => onChange(event.currentTarget.checked)} />
    {children}
  </label>
)
