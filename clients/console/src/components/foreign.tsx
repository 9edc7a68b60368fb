import { visible } from '../text/visible.ts'

export interface ForeignProps {
  text: string
  class?: string
  title?: string
}

/** Shows a text of somebody else: in a direction of its own, with hidden characters as escapes. */
export const Foreign = ({ text, class: more = '', title }: ForeignProps) => (
  <bdi class={`foreign ${more}`} title={title}>
    {visible(text)}
  </bdi>
)

/** Shows such a text in a paragraph. */
export const Paragraph = ({ text, class: name }: ForeignProps) => (
  <p class={name}>
    <Foreign text={text} />
  </p>
)

/** Links to what such a text names. */
export const NameLink = ({ text, ...link }: ForeignProps & { href: string }) => (
  <a {...link}>
    <Foreign text={text} />
  </a>
)
