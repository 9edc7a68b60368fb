import { Foreign } from './foreign.tsx'

/** A line of a list of facts. The text may be of somebody else. */
export const Fact = ({ name, text }: { name: string; text: string }) => (
  <div>
    <dt>{name}</dt>
    <dd>
      <Foreign text={text} />
    </dd>
  </div>
)
