from resin_es.cli import main

main()
