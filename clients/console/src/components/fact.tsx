import type { ComponentChildren } from 'preact'
import { Foreign } from './foreign.tsx'

/** A line of a list of facts. The text may be of somebody else. */
export const Fact = ({ name, text = '', children }: { name: string; text?: string; children?: ComponentChildren }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children ?? <Foreign text={text} />}</dd>
  </div>
)
