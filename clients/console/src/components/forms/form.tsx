import type { ClassAttributes, ComponentProps } from 'preact'

export interface FormProps extends Omit<ComponentProps<'form'>, 'onSubmit'>, ClassAttributes<HTMLFormElement> {
  onSubmit(): void
}

/** A form that stays on the page: the browser does not send it. */
export const Form = ({ onSubmit, ...form }: FormProps) => (
  <form
    {...form}
    onSubmit={(event) => {
      event.preventDefault()
      onSubmit()
    }}
  />
)
