"""The subcommands of `nardy`: one module each, with `main(argv) -> int`; see `nardy_rl.cli`."""
