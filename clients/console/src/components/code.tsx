import { Copy } from './copy.tsx'

/** Shows a file or commands in a box that scrolls, with a button that copies them. */
export function Code({ title, text }: { title: string; text: string }) {
  return (
    <figure class="code">
      <figcaption>
        <span>{title}</span>
        <Copy text={text} />
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable with the keyboard. */}
      <section tabIndex={0} aria-label={title}>
        <pre>
          <code>{text}</code>
        </pre>
      </section>
    </figure>
  )
}
