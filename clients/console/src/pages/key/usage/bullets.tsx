import { Foreign } from '../../../components/foreign.tsx'

/** Lists texts, which may be of others. */
export const Bullets = ({ texts }: { texts: readonly string[] }) => (
  <ul class="bullets">
    {texts.map((text) => (
      <li key={text}>
        <Foreign text={text} />
      </li>
    ))}
  </ul>
)
