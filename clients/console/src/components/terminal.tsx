import { Code } from './code.tsx'

/** Shows the commands that do the same, below a line that opens. */
export const Terminal = ({ commands }: { commands: readonly { title: string; text: string }[] }) => (
  <details>
    <summary>The same in a terminal</summary>
    {commands.map((one) => (
      <Code {...one} key={one.title} />
    ))}
  </details>
)
