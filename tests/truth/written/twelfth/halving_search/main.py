from search import Search


def main():
    s = Search([0.3, 0.1, 0.03, 0.01, 0.2, 0.05])
    for r, n, scores in s.rounds(8):
        print(f"round {r} alive {n} best {scores.min():.4f}")
    print([t.name for t in s.trials], [t.seen for t in s.trials])


if __name__ == "__main__":
    main()
