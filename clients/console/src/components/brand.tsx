/** Shows the logo and the name of the product. */
export function Brand() {
  return (
    <span class="brand">
      <svg viewBox="0 0 32 32" aria-hidden="true">
        <rect width="32" height="32" rx="8" />
        <circle cx="12" cy="16" r="5" />
        <path d="M17 16h9M22.5 16v5" />
      </svg>
      keyplane
    </span>
  )
}
